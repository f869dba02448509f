from .feature_transform import FeatureTransform as FeatureTransform
from .feature_transform_specs import build_feature_transform as build_feature_transform
from .feature_transform_table import FEATURE_TRANSFORMS as FEATURE_TRANSFORMS
from .ica import ICATransform as ICATransform
from .impute import ImputeTransform as ImputeTransform
from .pca import PCATransform as PCATransform
