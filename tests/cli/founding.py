"""Options by which tests found a federation."""


def of_two_sites(tables):
    """For `federation init`: siteA and siteB, with the columns of the server's table."""
    columns = ("--schema", tables["server.csv"], "--labels", "prefix:label_")
    return ("--sites", "siteA,siteB", "--min-clients", 2, *columns)
