//! The members of values: fields of objects and items of lists.

use std::borrow::Cow;

use serde_json::Value;

/// A value, read in place where it can be; `None` is undefined.
pub(super) type Operand<'a> = Option<Cow<'a, Value>>;

#[derive(Clone, Copy)]
pub(super) enum Member<'n> {
    Name(&'n str),
    Index(i64),
}

/// A field or an item; undefined in anything that has no such member. The key of an object may look like a number. What is owned is taken apart, not copied.
pub(super) fn member_of<'a>(value: Cow<'a, Value>, member: Member<'_>) -> Operand<'a> {
    match value {
        Cow::Borrowed(value) => match member {
            Member::Name(name) => value.as_object()?.get(name).map(Cow::Borrowed),
            Member::Index(index) => match value {
                Value::Object(fields) => fields.get(&index.to_string()).map(Cow::Borrowed),
                Value::Array(items) => items.get(place(index, items.len())?).map(Cow::Borrowed),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            },
        },
        Cow::Owned(mut value) => match member {
            Member::Name(name) => value.as_object_mut()?.remove(name).map(Cow::Owned),
            Member::Index(index) => match &mut value {
                Value::Object(fields) => fields.remove(&index.to_string()).map(Cow::Owned),
                Value::Array(items) => {
                    let place = place(index, items.len()).filter(|place| *place < items.len())?;
                    Some(Cow::Owned(items.swap_remove(place)))
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            },
        },
    }
}

/// A negative index counts from the end.
fn place(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(place) => Some(place),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
