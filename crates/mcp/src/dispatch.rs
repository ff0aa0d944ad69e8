//! Which method does what.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::Gateway;
use crate::api::Api;
use crate::client::{Client, Era, complete};
use crate::http::Outbox;
use crate::rpc::Error;
use crate::{call, discover, listen, prompts, resources, tasks};

/// A request, and whom it is from.
pub(crate) struct Context {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) api: Api,
    pub(crate) client: Client,
    pub(crate) id: Value,
    pub(crate) outbox: Outbox,
}

impl Context {
    pub(crate) async fn answer(&self, method: &str, params: Map<String, Value>) -> Result<Value, Error> {
        let params = Value::Object(params);
        let era = self.client.era;
        let result = match (era, method) {
            (_, "tools/list") => discover::tools(self).await,
            (_, "tools/call") => call::call(self, &params).await,
            (_, "prompts/list") => prompts::list(self).await,
            (_, "prompts/get") => prompts::get(self, &params).await,
            (_, "resources/list") => resources::list(self).await,
            (_, "resources/templates/list") => Ok(resources::templates(era)),
            (_, "resources/read") => resources::read(self, &params).await,
            (_, "completion/complete") => Ok(json!({ "completion": { "values": [], "hasMore": false } })),
            (Era::Stateless, "server/discover") => Ok(discover::discover()),
            (Era::Stateless, "tasks/get") => tasks::get(self, &params).await,
            (Era::Stateless, "tasks/update") => tasks::update(self, &params).await,
            (Era::Stateless, "tasks/cancel") => tasks::cancel(self, &params).await,
            (Era::Stateless, "subscriptions/listen") => listen::listen(self, &params).await,
            (Era::Sessions, "initialize") => Ok(discover::initialize(&params)),
            (Era::Sessions, "ping" | "logging/setLevel") => Ok(json!({})),
            (Era::Stateless | Era::Sessions, _) => Err(Error::unknown_method(method)),
        };
        match (result, era) {
            (Ok(result), _) => Ok(complete(era, result)),
            (Err(error), Era::Stateless) => Err(error),
            // There, an answer of 404 would say that the session is over.
            (Err(error), Era::Sessions) => Err(error.within_session()),
        }
    }
}

/// Text that a request must have.
pub(crate) fn required<'p>(params: &'p Value, field: &str) -> Result<&'p str, Error> {
    let given = params.get(field).and_then(Value::as_str);
    given.ok_or_else(|| Error::invalid(format!("`{field}` must be given, as text")))
}
