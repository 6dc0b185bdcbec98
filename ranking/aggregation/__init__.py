"""From judgments to labels: one method per file, all in `AGGREGATORS`."""

from ranking.aggregation.dawid_skene import DawidSkene
from ranking.aggregation.first import First
from ranking.aggregation.highest import Highest
from ranking.aggregation.labels import Aggregator, Labels
from ranking.aggregation.majority import Majority
from ranking.aggregation.mean import Mean
from ranking.aggregation.median import Median
from ranking.aggregation.one_coin import OneCoin
from ranking.aggregation.ordinal import Ordinal
from ranking.aggregation.registry import AGGREGATORS
from ranking.aggregation.rows import USE_ALL, TrainingRows, training_rows

__all__ = [
    "AGGREGATORS",
    "USE_ALL",
    "Aggregator",
    "DawidSkene",
    "First",
    "Highest",
    "Labels",
    "Majority",
    "Mean",
    "Median",
    "OneCoin",
    "Ordinal",
    "TrainingRows",
    "training_rows",
]
