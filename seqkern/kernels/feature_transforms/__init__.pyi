from .feature_transform_specs import FEATURE_TRANSFORMS as FEATURE_TRANSFORMS
from .feature_transform_specs import build_feature_transform as build_feature_transform
from .transforms import FeatureTransform as FeatureTransform
from .transforms import ICATransform as ICATransform
from .transforms import ImputeTransform as ImputeTransform
from .transforms import PCATransform as PCATransform
