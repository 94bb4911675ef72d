"""The live view: what goes on at a server or a site, as a page on this machine alone, in a process of its own."""
