//! Spans as OTLP wants them in JSON.

use serde_json::{Value, json};

use super::span::{Kind, Span};

pub(super) fn document(spans: &[Span]) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let resource = attributes(&[("service.name", json!("abide")), ("service.version", json!(version))]);
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": "abide", "version": version }, "spans": spans }],
    }] })
}

fn span(span: &Span) -> Value {
    let kind = match span.kind {
        Kind::Internal => 1,
        Kind::Server => 2,
        Kind::Client => 3,
    };
    let mut document = json!({
        "traceId": format!("{:032x}", span.trace_id),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": kind,
        // Numbers of 64 bits are texts there.
        "startTimeUnixNano": span.begun.as_nanosecond().to_string(),
        "endTimeUnixNano": span.ended.as_nanosecond().to_string(),
        "attributes": attributes(&span.attributes),
    });
    if let Some(parent) = span.parent {
        document["parentSpanId"] = json!(format!("{parent:016x}"));
    }
    if let Some(failure) = &span.failure {
        document["status"] = json!({ "code": 2, "message": failure });
    }
    if let Some(link) = span.link {
        let (trace, span) = (format!("{:032x}", link.trace_id), format!("{:016x}", link.span_id));
        document["links"] = json!([{ "traceId": trace, "spanId": span }]);
    }
    document
}

fn attributes(pairs: &[(&'static str, Value)]) -> Vec<Value> {
    let of = |(key, value): &(&'static str, Value)| {
        let value = match value {
            Value::Bool(value) => json!({ "boolValue": value }),
            Value::Number(number) => json!({ "intValue": number.to_string() }),
            Value::String(text) => json!({ "stringValue": text }),
            Value::Null | Value::Array(_) | Value::Object(_) => json!({ "stringValue": value.to_string() }),
        };
        json!({ "key": key, "value": value })
    };
    pairs.iter().map(of).collect()
}
