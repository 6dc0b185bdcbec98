"""Every aggregator by name: adding one is one file and one line here."""

from ranking.aggregation.dawid_skene import DawidSkene
from ranking.aggregation.first import First
from ranking.aggregation.highest import Highest
from ranking.aggregation.labels import Aggregator
from ranking.aggregation.majority import Majority
from ranking.aggregation.mean import Mean
from ranking.aggregation.median import Median
from ranking.aggregation.one_coin import OneCoin
from ranking.aggregation.ordinal import Ordinal

_ALL: tuple[Aggregator, ...] = (
    First(),
    Highest(),
    Majority(),
    Mean(),
    Median(),
    DawidSkene(),
    OneCoin(),
    Ordinal(),
)

#: Every aggregator, with its usual settings, by the name that campaigns and commands use for it.
AGGREGATORS: dict[str, Aggregator] = {aggregator.name: aggregator for aggregator in _ALL}
