"""How far judges agree: coefficients, judge against judge, and one judge against the rest.

Judgments are three equal-length integer arrays ``pair, judge, grade`` in time order. A judge who
judged a pair more than once is counted once, with the latest grade: nobody is a second opinion on
their own work. A value that does not exist is ``nan``, and ``reason`` says why.
"""

from ranking.agreement.coefficients import (
    fleiss_kappa,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
    pooled_kappa,
)
from ranking.agreement.distribution import DistributionTest, distribution_test
from ranking.agreement.judges import (
    Confusion,
    PairwiseKappa,
    cohen_kappa,
    confusion,
    pairwise_kappa,
)
from ranking.agreement.result import Agreement

__all__ = [
    "Agreement",
    "Confusion",
    "DistributionTest",
    "PairwiseKappa",
    "cohen_kappa",
    "confusion",
    "distribution_test",
    "fleiss_kappa",
    "gwet_ac2",
    "krippendorff_alpha",
    "pairwise_kappa",
    "percent_agreement",
    "pooled_kappa",
]
