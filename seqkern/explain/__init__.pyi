from .explanation import Explainer as Explainer
from .explanation import Explanation as Explanation
from .explanation import explain as explain
