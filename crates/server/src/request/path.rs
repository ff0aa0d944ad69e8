//! Ids in a path. One that is not spelled as an id is an id that nothing has.

use std::str::FromStr;

use abide_core::id::{BadId, DeliveryId, RunId, ScheduleId, TaskId, WaitpointId, WebhookId};
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::app::Shared;
use crate::problem::{Code, Problem};

/// The one id, or name, in a path.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

/// Two of them: a run's, and one of something in it as it was written.
#[derive(Debug)]
pub(crate) struct Ids(pub(crate) RunId, pub(crate) String);

/// Two of them, each of a kind of its own.
#[derive(Debug)]
pub(crate) struct Pair<A, B>(pub(crate) A, pub(crate) B);

/// What can stand in a path.
pub(crate) trait InPath: Sized {
    fn read(text: &str) -> Result<Self, Problem>;
}

fn id<T: FromStr<Err = BadId>>(text: &str, unknown: Code) -> Result<T, Problem> {
    text.parse().map_err(|error: BadId| Problem::new(unknown, error.to_string()))
}

impl InPath for RunId {
    fn read(text: &str) -> Result<RunId, Problem> {
        id(text, Code::UnknownRun)
    }
}

impl InPath for WaitpointId {
    fn read(text: &str) -> Result<WaitpointId, Problem> {
        id(text, Code::UnknownWaitpoint)
    }
}

impl InPath for TaskId {
    fn read(text: &str) -> Result<TaskId, Problem> {
        id(text, Code::UnknownTask)
    }
}

impl InPath for ScheduleId {
    fn read(text: &str) -> Result<ScheduleId, Problem> {
        id(text, Code::UnknownSchedule)
    }
}

impl InPath for WebhookId {
    fn read(text: &str) -> Result<WebhookId, Problem> {
        id(text, Code::UnknownWebhook)
    }
}

impl InPath for DeliveryId {
    fn read(text: &str) -> Result<DeliveryId, Problem> {
        id(text, Code::UnknownDelivery)
    }
}

impl InPath for String {
    fn read(text: &str) -> Result<String, Problem> {
        Ok(text.to_owned())
    }
}

async fn segments<T: DeserializeOwned + Send>(parts: &mut Parts, app: &Shared) -> Result<T, Problem> {
    let path = Path::<T>::from_request_parts(parts, app).await;
    path.map(|Path(segments)| segments)
        .map_err(|rejection| Problem::new(Code::BadRequest, rejection.body_text()))
}

impl<T: InPath> FromRequestParts<Shared> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Id<T>, Problem> {
        let text: String = segments(parts, app).await?;
        T::read(&text).map(Id)
    }
}

impl FromRequestParts<Shared> for Ids {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Ids, Problem> {
        let (run, other): (String, String) = segments(parts, app).await?;
        Ok(Ids(RunId::read(&run)?, other))
    }
}

impl<A: InPath, B: InPath> FromRequestParts<Shared> for Pair<A, B> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Shared) -> Result<Pair<A, B>, Problem> {
        let (first, second): (String, String) = segments(parts, app).await?;
        Ok(Pair(A::read(&first)?, B::read(&second)?))
    }
}
