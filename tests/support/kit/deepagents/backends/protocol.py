"""The interface of deepagents 0.7 as a backend sees it: the names, the fields, and what its results refuse."""

from abc import ABC
from dataclasses import dataclass
from typing import Optional


class BackendProtocol(ABC):
    """What a backend does not have is inherited, and raises NotImplementedError; here it is missing."""


@dataclass
class ReadResult:
    error: Optional[str] = None
    file_data: Optional[dict] = None
    total_lines: Optional[int] = None
    start_line: Optional[int] = None
    end_line: Optional[int] = None
    next_offset: Optional[int] = None
    no_lines_requested: bool = False

    def __post_init__(self):
        has_window = self.start_line is not None
        if has_window != (self.end_line is not None):
            raise ValueError("start_line and end_line belong together")
        if not has_window and (self.next_offset is not None or self.total_lines is not None):
            raise ValueError("next_offset and total_lines require a window")
        if self.no_lines_requested and (self.error is not None or has_window):
            raise ValueError("no_lines_requested excludes the other fields")
        if has_window and not 1 <= self.start_line <= self.end_line:
            raise ValueError("the window does not run forward")
        if has_window and self.total_lines is not None and self.total_lines < self.end_line:
            raise ValueError("the file ends before the window")
        if has_window and self.next_offset is not None and self.next_offset != self.end_line:
            raise ValueError("next_offset is not the line after the window")


@dataclass
class WriteResult:
    error: Optional[str] = None
    path: Optional[str] = None


@dataclass
class EditResult:
    error: Optional[str] = None
    path: Optional[str] = None
    occurrences: Optional[int] = None


@dataclass
class DeleteResult:
    error: Optional[str] = None
    path: Optional[str] = None


@dataclass
class LsResult:
    error: Optional[str] = None
    entries: Optional[list] = None


@dataclass
class GrepResult:
    error: Optional[str] = None
    matches: Optional[list] = None
    truncated: bool = False


@dataclass
class GlobResult:
    error: Optional[str] = None
    matches: Optional[list] = None
    truncated: bool = False


@dataclass
class FileUploadResponse:
    path: str
    error: Optional[str] = None


@dataclass
class FileDownloadResponse:
    path: str
    content: Optional[bytes] = None
    error: Optional[str] = None
