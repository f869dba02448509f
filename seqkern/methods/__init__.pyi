from .explanation import Explainer as Explainer
from .explanation import Explanation as Explanation
from .explanation import explain as explain
from .loading import load_model as load_model
from .method import Method as Method
from .model import Model as Model
from .residue_model import ResidueModel as ResidueModel
from .training import train_model as train_model
