from .audit_overlaps import KINDS as KINDS
from .audit_overlaps import Parts as Parts
from .audit_overlaps import Relations as Relations
from .audit_overlaps import find_relations as find_relations
from .audit_overlaps import make_parts as make_parts
from .audit_run import Audit as Audit
from .audit_run import audit as audit
from .page import build_report as build_report
