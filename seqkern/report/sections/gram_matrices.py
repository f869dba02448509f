"""The section of Gram matrices, as small pictures."""

from seqkern.core.markup import Markup, tag
from seqkern.figures.gram import MOST_NAMED, gram_figure
from seqkern.figures.names import short
from seqkern.figures.numbers import number
from seqkern.figures.panels import panel, small_multiples
from seqkern.report.dataset_results import DatasetResults
from seqkern.report.sections.thumbnails import thumbnail
from seqkern.report.view import View, paragraph
from seqkern.study.auto_kernel import AutoKernel
from seqkern.study.kernel_entries import KernelChoice


def gram_section(view: View) -> Markup | None:
    """Return the thumbnails of the Gram matrices; None of residues, for which none is stored.

    Parameters
    ----------
    view : View
        The data set, as the page shows it.

    Returns
    -------
    Markup or None
        The section; None for residues.
    """
    if view.dataset.residues:
        return None
    panels, notes, shown_by = [], [], _shown_by(view.dataset)
    for kernel in view.dataset.kernels:
        other = shown_by.get(kernel, kernel)
        if other != kernel:
            how = f"uses the matrix of {other}, with another transform."
            if view.dataset.learns(kernel):
                how = f"derived from the matrix of {other}."
            notes.append(tag("li", tag("b", kernel), f": {how}"))
            continue
        picture = thumbnail(view.dataset, kernel)
        if picture is None:
            notes.append(tag("li", tag("b", kernel), ": ", _why_none(view, kernel)))
            continue
        label = f"{view.dataset.name}: Gram matrix of kernel {kernel}, sorted by {view.data_text(picture.sorted_by)}"
        size = f"{number(picture.total, 0)} × {number(picture.total, 0)}"
        some = f", {number(picture.sampled, 0)} evenly spaced ones read" if picture.sampled < picture.total else ""
        names = [short(name, 24) for name, _, _ in picture.bands[: MOST_NAMED + 1]]
        classes = f" ({', '.join(names)})" if 0 < len(names) <= MOST_NAMED else ""
        details = [size, f", sorted by {view.data_text(picture.sorted_by)}{classes}", some]
        caption = [tag("b", kernel), tag("br"), details]
        panels.append(panel(gram_figure(picture, label), caption))
    intro = view.data_text(
        "A Gram matrix holds the kernel's similarity of every pair of sequences. Each pixel is the mean over a "
        "block; brighter is more similar. Sequences are sorted by class "
        "(or family), so a kernel that separates the classes shows bright squares along the diagonal. The colour "
        "bar covers all but the most extreme 1 % of the pixels."
    )
    listed = tag("ul", notes) if notes else None
    shown = small_multiples(panels, "kernels", "panels grams") if panels else None
    return view.section("gram", "Gram matrices", paragraph(intro), shown, listed)


def _shown_by(dataset: DatasetResults) -> dict[str, str]:
    """Return, for each kernel that has a stored matrix, the kernel whose picture shows it.

    That is the one under whose name it is kept, or else the first of the data set's that has this matrix; a kernel
    that learns from the training set is none of these: its own matrices are others.
    """
    homes = {kernel: dataset.gram_home(kernel) for kernel in dataset.kernels}
    shown: dict[str | None, str] = {}
    kernels = [kernel for kernel in dataset.kernels if homes[kernel] is not None]
    for kernel in sorted(kernels, key=lambda kernel: kernel != homes[kernel]):
        if not dataset.learns(kernel):
            shown.setdefault(homes[kernel], kernel)
    return {kernel: shown.get(homes[kernel], kernel) for kernel in kernels}


def _why_none(view: View, kernel: str) -> Markup | str:
    """Return why a kernel has no thumbnail."""
    entry = view.dataset.kernel(kernel)
    if isinstance(entry, KernelChoice):
        names = ", ".join(one.name for one in entry.candidates)
        return f"the inner loop selects one of {names} for each training set."
    if isinstance(entry, AutoKernel):
        return "the inner loop selects a kernel for each training set."
    if view.dataset.learns(kernel):
        return "fitted on each training set, so there is no single matrix for all samples."
    return tag("span", "no Gram matrix was found.", class_="missing")
