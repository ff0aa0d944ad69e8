//! What a request holds, read strictly: every body and query has a type, the type's schema is the one in
//! `/openapi.json`, and what does not fit it is refused with its place and the nearest name.

pub(crate) mod body;
pub(crate) mod call;
pub(crate) mod cursor;
mod encoded;
pub(crate) mod idempotency;
mod instant;
mod length;
mod name;
mod parts;
pub(crate) mod path;
pub(crate) mod query;
mod repeated;
pub(crate) mod schema;

pub(crate) use body::Body;
pub(crate) use idempotency::IdempotencyKey;
pub(crate) use instant::{instant, instant_if_given};
pub(crate) use length::length;
pub(crate) use name::Name;
pub(crate) use path::{Id, Ids, Pair};
pub(crate) use query::Query;
