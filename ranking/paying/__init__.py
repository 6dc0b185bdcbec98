"""If-it-pays: ask for another judgment where it may change the ranking and is worth its price.

Every document of a query has a posterior over grades, from the model that labels. With the gain
G(g) = 2^g − 1 the expected gain of a document is x = Σ_g p_g·G(g), and the best order of a list
sorts by x. Another judgment moves x of one document, up or down, and where it moves it past another
among the first k the list gets better on average: that expected rise, as a share of the best that
can be hoped for, is what the judgment is worth.

Reference: the knowledge gradient of Frazier, Powell, Dayanik, "A knowledge-gradient policy for
sequential information collection", SIAM J. Control Optim. 2008, and looking several measurements
ahead, Frazier, Powell, "Paradoxes in learning and the marginal value of information", Decision
Analysis 2010; here over a list instead of a single choice. ``docs/lab.md`` has what it saves.
"""

from ranking.paying.belief import Belief, at_first, believe
from ranking.paying.lists import list_values
from ranking.paying.policy import IfItPays, next_judge
from ranking.paying.price import price_for, price_left
from ranking.paying.worth import AHEAD, expected_ideal_dcg, value

__all__ = [
    "AHEAD",
    "Belief",
    "IfItPays",
    "at_first",
    "believe",
    "expected_ideal_dcg",
    "list_values",
    "next_judge",
    "price_for",
    "price_left",
    "value",
]
