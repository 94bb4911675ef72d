"""What a site sees of its federation's members before it consents: their fingerprints, to compare by phone."""

from rich.table import Table

from fedsieve.cli.console import out, warn
from fedsieve.deployment.admission import check_own_place
from fedsieve.deployment.agreement import Agreement
from fedsieve.deployment.authority import check_authority
from fedsieve.deployment.members import fingerprint
from fedsieve.deployment.site_folder import SiteFolder
from fedsieve.protocol import SERVER


def show_members(site: SiteFolder, agreement: Agreement) -> None:
    """Close the folder to others, refuse an agreement or authority that is not this site's, show all fingerprints."""
    for part in site.close_to_others():
        warn(f"{part}: could be read by others on this machine; it is yours alone now (chmod 700).")
    check_own_place(site, agreement)
    check_authority(site, agreement)
    table = Table(title="Who may speak: compare by phone before the first consent", title_justify="left")
    table.add_column("member", no_wrap=True)
    table.add_column("fingerprint of the key", no_wrap=True)
    roles = {SERVER: "operator", site.name: f"{site.name} (this site)"}
    for name in dict.fromkeys([SERVER, site.name, *sorted(agreement.sites)]):
        key = agreement.members[name]
        table.add_row(roles.get(name, name), fingerprint(key) if key else "none yet: cannot take part")
    out.print(table)
