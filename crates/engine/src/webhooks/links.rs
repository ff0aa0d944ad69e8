//! Links in what webhooks are told: whoever is told of an approval can pass on where it is decided. The store holds
//! the message without them; they are made when it is sent.

use std::sync::{Arc, OnceLock};

use abide_core::id::{WaitpointId, WorkspaceId};
use abide_core::notice::Topic;
use abide_store::{Delivery, Read};
use serde_json::Value;

/// Makes the links of an approval, from what its notice says of it.
pub type LinkMaker = Arc<
    dyn Fn(&mut dyn Read, WorkspaceId, WaitpointId, &Value) -> Result<Value, abide_store::Error>
        + Send
        + Sync,
>;

/// Who makes links, as soon as somebody can: a server that comes up tells where it is reached.
#[derive(Clone, Default)]
pub(crate) struct Linking {
    maker: Arc<OnceLock<LinkMaker>>,
    /// A server is still to come up, and is waited for.
    is_served: bool,
}

impl Linking {
    pub(crate) fn new(is_served: bool) -> Linking {
        Linking { maker: Arc::default(), is_served }
    }

    pub(crate) fn set(&self, maker: LinkMaker) {
        // The first one stays: a server has one address.
        drop(self.maker.set(maker));
    }

    /// Whether a message has to wait until links can be made for it.
    pub(crate) fn is_awaited(&self, topic: Topic) -> bool {
        topic == Topic::ApprovalRequested && self.is_served && self.maker.get().is_none()
    }

    /// The message as it is sent.
    pub(crate) fn body(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        delivery: &Delivery,
    ) -> Result<String, abide_store::Error> {
        let maker = self.maker.get().filter(|_| delivery.topic == Topic::ApprovalRequested);
        let parsed =
            maker.and_then(|maker| Some((maker, serde_json::from_str::<Value>(&delivery.body).ok()?)));
        let Some((maker, mut notice)) = parsed else { return Ok(delivery.body.clone()) };
        let waitpoint = notice["data"]["waitpointId"].as_str().and_then(|id| id.parse::<WaitpointId>().ok());
        let Some(waitpoint) = waitpoint else { return Ok(delivery.body.clone()) };
        let links = maker(store, workspace, waitpoint, &notice["data"])?;
        notice["data"]["links"] = links;
        Ok(notice.to_string())
    }
}
