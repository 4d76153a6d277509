"""Run-time checks whose failures are values: `checkify`."""

from __future__ import annotations

from gnomon.experimental.checkify._check import check as check
from gnomon.experimental.checkify._check import check_error as check_error
from gnomon.experimental.checkify._check import debug_check as debug_check
from gnomon.experimental.checkify._errors import Error as Error
from gnomon.experimental.checkify._errors import ErrorCategory as ErrorCategory
from gnomon.experimental.checkify._errors import JaxRuntimeError as JaxRuntimeError
from gnomon.experimental.checkify._errors import all_checks as all_checks
from gnomon.experimental.checkify._errors import automatic_checks as automatic_checks
from gnomon.experimental.checkify._errors import div_checks as div_checks
from gnomon.experimental.checkify._errors import float_checks as float_checks
from gnomon.experimental.checkify._errors import index_checks as index_checks
from gnomon.experimental.checkify._errors import init_error as init_error
from gnomon.experimental.checkify._errors import nan_checks as nan_checks
from gnomon.experimental.checkify._errors import user_checks as user_checks
from gnomon.experimental.checkify._transform import checkify as checkify
