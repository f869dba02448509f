from .groups import SimilarGroups as SimilarGroups
from .groups import similar_groups as similar_groups
from .search import SimilarPairs as SimilarPairs
from .search import find_similar as find_similar
