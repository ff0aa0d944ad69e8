//! `/openapi.json`: OpenAPI 3.1, made from the table of routes and the types of bodies and queries. The types' schemas
//! are the ones that requests are checked with.

use std::collections::BTreeMap;

use abide_core::definition;
use abide_engine::stored::Scope;
use axum::http::StatusCode;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::endpoint::{Content, Endpoint, PREFIXES, Routes, SchemaOf, Verb};
use crate::guard::Access;
use crate::problem::{Code, ProblemBody};
use crate::request::idempotency::{HEADER, KEY_CHARS};

/// What any request can be told.
const ALWAYS: [Code; 8] = [
    Code::BadRequest,
    Code::HostRefused,
    Code::OriginRefused,
    Code::HeadersTooLarge,
    Code::Overloaded,
    Code::StoreUnavailable,
    Code::Stopping,
    Code::Internal,
];
/// What a request that needs a key can be told besides.
const WITH_KEY: [Code; 4] = [Code::Unauthenticated, Code::Forbidden, Code::RateLimited, Code::Paused];
const WITH_BODY: [Code; 5] =
    [Code::NotJson, Code::Malformed, Code::BodyTimeout, Code::BodyTooLarge, Code::UnsupportedMediaType];

pub(crate) fn document(routes: &Routes) -> Value {
    let mut schemas = Schemas::default();
    // Every refusal refers to it.
    schemas.going_out.subschema_for::<ProblemBody>();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (group, endpoint) in routes.endpoints() {
        let path = match endpoint.versioned {
            true => format!("{}{}", PREFIXES[0], endpoint.path),
            false => endpoint.path.to_owned(),
        };
        let methods: &[&str] = match endpoint.verb {
            Verb::Get => &["get"],
            Verb::Post => &["post"],
            Verb::Patch => &["patch"],
            Verb::Put => &["put"],
            Verb::Delete => &["delete"],
            Verb::Any => &["get", "post", "put", "patch", "delete"],
        };
        for method in methods {
            let operation = operation(endpoint, method, group.name, &mut schemas);
            paths.entry(path.clone()).or_default().insert((*method).to_owned(), operation);
        }
    }
    let schemas = schemas.into_components();
    let tags = routes.groups.iter().map(|group| json!({ "name": group.name, "description": group.about }));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "abide",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Durable workflows in which waiting is the first-class thing.",
            "description": "Everything under `/api/v1` is reached under `/v1` too. A list is `{\"data\": […], \
                \"nextCursor\": …}`. What cannot be done is answered with `application/problem+json` and a stable \
                `code`. Fields and parameters that are not known are refused.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "tags": tags.collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "apiKey": { "type": "apiKey", "in": "header", "name": "x-api-key" },
            },
        },
    })
}

/// The schemas of all bodies. Of what comes in, a field with a default may be absent; of what goes out, it is there.
struct Schemas {
    coming_in: SchemaGenerator,
    going_out: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Schemas {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Schemas {
            going_out: settings.clone().for_serialize().into_generator(),
            coming_in: settings.into_generator(),
        }
    }
}

impl Schemas {
    fn into_components(mut self) -> Value {
        let mut all = self.coming_in.take_definitions(true);
        all.extend(self.going_out.take_definitions(true));
        add_workflow(&mut all);
        let mut all = Value::Object(all);
        write_out_ranges(&mut all);
        all
    }
}

const WORKFLOW: &str = "Workflow";

/// The schema of a definition is the core's; its parts become components of their own.
fn add_workflow(all: &mut Map<String, Value>) {
    let mut root = definition::json_schema();
    let parts = root.as_object_mut().and_then(|root| root.remove("$defs")).unwrap_or_default();
    refer_to_components(&mut root);
    all.insert(WORKFLOW.to_owned(), root);
    for (name, mut part) in parts.as_object().cloned().unwrap_or_default() {
        refer_to_components(&mut part);
        all.insert(format!("{WORKFLOW}{name}"), part);
    }
}

fn refer_to_components(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(refer_to_components),
        Value::Object(keywords) => {
            if let Some(Value::String(reference)) = keywords.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", &format!("#/components/schemas/{WORKFLOW}"));
            }
            keywords.remove("$schema");
            keywords.values_mut().for_each(refer_to_components);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Ranges that only a `format` tells.
fn write_out_ranges(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(write_out_ranges),
        Value::Object(keywords) => {
            if keywords.get("format") == Some(&json!("uint32")) {
                keywords.entry("maximum").or_insert(json!(u32::MAX));
            }
            keywords.values_mut().for_each(write_out_ranges);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn operation(endpoint: &Endpoint, method: &str, tag: &str, schemas: &mut Schemas) -> Value {
    let mut operation = json!({
        "tags": [tag],
        "summary": endpoint.summary,
        "operationId": operation_id(endpoint, method),
        "parameters": parameters(endpoint, &mut schemas.coming_in),
        "responses": responses(endpoint, &mut schemas.going_out),
        "security": security(endpoint.access),
        "x-scopes": scopes(endpoint.access),
    });
    if !endpoint.about.is_empty() {
        operation["description"] = endpoint.about.into();
    }
    let has_body = endpoint.verb != Verb::Any || !matches!(method, "get" | "delete");
    if let Some(body) = endpoint.body.filter(|_| has_body) {
        let content = content(body, &mut schemas.coming_in);
        operation["requestBody"] = json!({ "required": body.required, "content": content });
    }
    operation
}

/// `post /workflow-runs/{id}/cancel` → `postWorkflowRunsIdCancel`.
fn operation_id(endpoint: &Endpoint, method: &str) -> String {
    let words =
        endpoint.path.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(method.to_owned(), |id, word| {
        let (first, rest) = word.split_at(1);
        id + &first.to_ascii_uppercase() + rest
    })
}

fn security(access: Access) -> Value {
    match access {
        Access::Open | Access::Anyone => json!([]),
        // On loopback, where no key is needed, nothing is.
        Access::Key(_) | Access::Link(_) => json!([{ "bearer": [] }, { "apiKey": [] }, {}]),
    }
}

/// Of which a key needs one.
fn scopes(access: Access) -> &'static [Scope] {
    match access {
        Access::Open | Access::Anyone => &[],
        Access::Key(scopes) | Access::Link(scopes) => scopes,
    }
}

fn parameters(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Vec<Value> {
    let in_path = endpoint.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<Value> = in_path
        .map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
        })
        .collect();
    if let Some(query) = endpoint.query {
        parameters.extend(query_parameters(query, generator));
    }
    if endpoint.idempotent {
        parameters.push(json!({
            "name": "Idempotency-Key",
            "in": "header",
            "description": "The same key and the same request get the same answer; with another request it is refused.",
            "schema": { "type": "string", "minLength": 1, "maxLength": KEY_CHARS, "pattern": "^[ -~]+$" },
        }));
        debug_assert!("Idempotency-Key".eq_ignore_ascii_case(HEADER));
    }
    parameters
}

/// Each field of the query's type is a parameter.
fn query_parameters(query: SchemaOf, generator: &mut SchemaGenerator) -> Vec<Value> {
    let referred = Value::from(query(generator));
    let name = referred["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let schema = generator.definitions().get(name).cloned().unwrap_or(referred.clone());
    let required: Vec<Value> = schema["required"].as_array().cloned().unwrap_or_default();
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    // It is no component of its own: nothing refers to it.
    generator.definitions_mut().remove(name);
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        not_null(&mut schema);
        json!({
            "name": name,
            "in": "query",
            "required": required.contains(&Value::from(name.as_str())),
            "description": description.unwrap_or_default(),
            "style": "form",
            "explode": false,
            "schema": schema,
        })
    };
    fields.into_iter().map(parameter).collect()
}

/// A parameter that is not there is not null, it is not there.
fn not_null(schema: &mut Value) {
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
}

fn content(content: Content, generator: &mut SchemaGenerator) -> Value {
    let schema = content.schema.map(|schema| Value::from(schema(generator)));
    let of = |media_type: &&str| {
        let schema = match &schema {
            Some(schema) => json!({ "schema": schema }),
            None if media_type.ends_with("json") => json!({ "schema": true }),
            None => json!({}),
        };
        ((*media_type).to_owned(), schema)
    };
    Value::Object(content.media_types.iter().map(of).collect())
}

fn responses(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut responses = Map::new();
    for answer in &endpoint.answers {
        let mut response = json!({ "description": answer.about });
        if let Some(body) = answer.content {
            response["content"] = content(body, generator);
        }
        responses.insert(answer.status.as_str().to_owned(), response);
    }
    let mut by_status: BTreeMap<StatusCode, Vec<Code>> = BTreeMap::new();
    for code in codes(endpoint) {
        by_status.entry(code.status()).or_default().push(code);
    }
    for (status, codes) in by_status {
        let names: Vec<String> = codes.iter().map(|code| format!("`{}`", code.name())).collect();
        let mut response = json!({
            "description": names.join(", "),
            "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
        });
        if endpoint.pages {
            response["content"]["text/html"] = json!({});
        }
        responses.entry(status.as_str()).or_insert(response);
    }
    if endpoint.speaks {
        let said = json!({ "description": "What the run said, with the status that it gave.",
                           "content": { "application/json": { "schema": true }, "text/plain": {} } });
        responses.insert("default".to_owned(), said);
    }
    responses
}

/// Every code that the endpoint can answer with.
pub(crate) fn codes(endpoint: &Endpoint) -> Vec<Code> {
    let with_key: &[Code] = if endpoint.access == Access::Open { &[] } else { &WITH_KEY };
    let with_body: &[Code] = if endpoint.body.is_some() { &WITH_BODY } else { &[] };
    let with_query: &[Code] = if endpoint.query.is_some() { &[Code::Malformed] } else { &[] };
    let with_idempotency: &[Code] =
        if endpoint.idempotent { &[Code::IdempotencyKeyReused, Code::Malformed] } else { &[] };
    let mut codes: Vec<Code> =
        [&endpoint.codes[..], &ALWAYS, with_key, with_body, with_query, with_idempotency].concat();
    codes.sort_unstable();
    codes.dedup();
    codes
}
