"""Which pages are copies of one another."""

from markupsafe import Markup

from curate.inspect.opened import OpenedRun
from curate.report import charts
from curate.report.duplicates import LARGEST, DuplicateCluster, Duplicates, duplicates
from curate.report.figures import Figures
from curate.report.markup import count, element, folded, join, measured, table, url
from curate.sizes import numbered


def copies(run: OpenedRun, figures: Figures) -> Markup:
    """Cluster sizes and the largest clusters of every corpus stage."""
    found = duplicates(run)
    if not found:
        return element("p", "No page was dropped as a duplicate of another.")
    return join(_duplicates(one, figures) for one in found)


def _duplicates(one: Duplicates, figures: Figures) -> Markup:
    title, unit = f"Clusters of {one.stage} by size", "pages in the cluster"
    said = f"Dropped: {numbered(one.dropped, 'page')}, as copies of {count(one.clusters)} others. "
    caption = said + "A cluster is a page and those that were dropped for it; the axis is logarithmic."
    rows = table(title, [unit, "clusters"], [(name, count(number)) for name, number in one.sizes])
    chart = figures.chart(charts.columns(title, list(one.sizes), unit), caption, rows=rows)
    many = one.clusters > LARGEST
    heading = element("h4", f"The {len(one.largest)} largest clusters" if many else "Its clusters, largest first")
    return join([element("h3", one.stage), chart, heading, *map(_cluster, one.largest)])


def _cluster(cluster: DuplicateCluster) -> Markup:
    file, offset = cluster.address
    fates = {"kept": "kept", "unknown": "not found again"}
    least = f", the least similar at {measured(cluster.lowest)}" if cluster.lowest is not None else ""
    said = [
        f"Copies come from {numbered(cluster.domains, 'domain')}{least}. ",
        f"The page they were dropped for was {fates.get(cluster.fate, f'dropped later by {cluster.fate}')}: ",
        element("code", f"{file}:{offset}"),
        ".",
    ]
    more = cluster.size - 1 - len(cluster.members)
    members = [element("li", url(row["url"]), _similarity(row["score"])) for row in cluster.members]
    pre = {"class_": "page", "dir": "auto", "tabindex": 0, "aria_label": "Start of its text"}
    return folded(
        [element("strong", numbered(cluster.size, "page")), " ", url(cluster.url)],
        element("p", said),
        element("pre", cluster.text, **pre) if cluster.text else None,
        element("p", "Dropped for it:"),
        element("ul", *members, element("li", f"and {count(more)} more") if more > 0 else None),
        class_="cluster",
        data_found="cluster",
    )


def _similarity(score: float | None) -> str | None:
    return None if score is None else f", similarity {measured(score)}"
