//! Whole numbers written as `1800000.0` or `1.8e6`: made plain where the schema wants an integer, and only there. What is the
//! author's own (an input, a body) stays as it was written.

use serde_json::Value;

use super::words::{self, TAG, Words, tags};
use crate::json;
use crate::schema::Keyword;

impl Words {
    pub(super) fn make_whole(self, value: &mut Value, schema: &'static Value) {
        let schema = self.resolved(schema);
        if let Some(choices) = words::choices(schema) {
            let tag = value.get(TAG).and_then(Value::as_str).map(str::to_owned);
            for choice in choices {
                let known = tags(self.resolved(choice));
                if known.is_empty() || tag.as_deref().is_some_and(|tag| known.contains(&tag)) {
                    self.make_whole(value, choice);
                }
            }
            return;
        }
        match value {
            Value::Number(number) if number.is_f64() && words::accepts(schema, "integer") => {
                if let Some(whole) = json::whole(value) {
                    *value = whole.into();
                }
            }
            Value::Object(fields) => {
                let known = schema.get(Keyword::PROPERTIES);
                let others = schema.get(Keyword::ADDITIONAL_PROPERTIES).filter(|others| others.is_object());
                for (name, field) in fields {
                    if let Some(schema) = known.and_then(|known| known.get(name)).or(others) {
                        self.make_whole(field, schema);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(schema) = schema.get(Keyword::ITEMS) {
                    items.iter_mut().for_each(|item| self.make_whole(item, schema));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
