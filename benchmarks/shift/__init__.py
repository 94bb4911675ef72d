"""How often `fedsieve` takes honest sites for ones with other units, and how often it finds those that have them."""
