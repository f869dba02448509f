from .audit_page import KINDS as KINDS
from .audit_page import Audit as Audit
from .audit_page import Parts as Parts
from .audit_page import Relations as Relations
from .audit_page import audit as audit
from .audit_page import find_relations as find_relations
from .audit_page import make_parts as make_parts
from .page import build_report as build_report
