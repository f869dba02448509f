from .transforms import FEATURE_TRANSFORMS as FEATURE_TRANSFORMS
from .transforms import FeatureTransform as FeatureTransform
from .transforms import ICATransform as ICATransform
from .transforms import ImputeTransform as ImputeTransform
from .transforms import PCATransform as PCATransform
from .transforms import build_feature_transform as build_feature_transform
