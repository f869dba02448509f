from .page import build_report as build_report
