@echo off
set LIMIT=10
call :greet
goto :eof

:greet
echo hi
exit /b 0
