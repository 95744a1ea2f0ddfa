ARG BASE=3.11
FROM python:${BASE} AS builder
ENV APP_HOME=/app MODE=prod
WORKDIR $APP_HOME
RUN pip install .

FROM alpine
ARG TOKEN
COPY --from=builder /app /app
CMD ["run"]
