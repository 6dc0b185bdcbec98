"""The grades as Django offers them: most relevant first, as people read them."""

from ranking.grades import Grade

GRADE_CHOICES = [(int(grade), grade.word) for grade in sorted(Grade, reverse=True)]
