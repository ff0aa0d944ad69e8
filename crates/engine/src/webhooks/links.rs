//! Links in webhook messages: a message about an approval can say where it is decided. The store holds the message
//! without them; they are made when it is sent.

use std::sync::{Arc, OnceLock};

use abide_core::id::{WaitpointId, WorkspaceId};
use abide_core::webhook_message::Topic;
use abide_store::{Delivery, Read, Store};
use serde_json::Value;

/// Makes the links of an approval, valid in a generation, from the data of its webhook message.
pub type LinkMaker = Arc<dyn Fn(WaitpointId, LinkGeneration, &Value) -> Value + Send + Sync>;

/// The generation of a link: a link is valid while nobody has revoked the links of its waitpoint, or of its
/// workspace, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkGeneration {
    /// How often the links of the waitpoint were revoked.
    pub of_waitpoint: u32,
    /// How often the links of the whole workspace were revoked.
    pub of_workspace: u32,
}

impl LinkGeneration {
    pub(crate) fn read(
        store: &mut dyn Read,
        workspace: WorkspaceId,
        waitpoint: WaitpointId,
    ) -> Result<LinkGeneration, abide_store::Error> {
        let of_workspace = revocations(store.setting(&setting_of(workspace))?.as_deref());
        Ok(LinkGeneration { of_waitpoint: store.link_generation(waitpoint)?, of_workspace })
    }
}

/// The store's setting that counts how often all links of a workspace were revoked.
fn setting_of(workspace: WorkspaceId) -> String {
    format!("link-era-{}", workspace.0)
}

fn revocations(setting: Option<&[u8]>) -> u32 {
    setting.and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse().ok()).unwrap_or(0)
}

/// Revokes every link to a waitpoint of the workspace that was made before.
pub(crate) fn revoke_links_of(
    store: &mut dyn Store,
    workspace: WorkspaceId,
) -> Result<(), abide_store::Error> {
    let name = setting_of(workspace);
    loop {
        let was = store.setting(&name)?;
        let next = (revocations(was.as_deref()) + 1).to_string();
        if store.change_setting(&name, was.as_deref(), next.as_bytes())? {
            return Ok(());
        }
    }
}

/// The maker of links, as soon as there is one: a server that comes up says where it is reached.
#[derive(Clone, Default)]
pub(crate) struct Linking {
    maker: Arc<OnceLock<LinkMaker>>,
    /// Whether a server is still to come up, and is waited for.
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

    /// The webhook message as it is sent.
    pub(crate) fn body(
        &self,
        store: &mut dyn Read,
        workspace: WorkspaceId,
        delivery: &Delivery,
    ) -> Result<String, abide_store::Error> {
        let maker = self.maker.get().filter(|_| delivery.topic == Topic::ApprovalRequested);
        let parsed =
            maker.and_then(|maker| Some((maker, serde_json::from_str::<Value>(&delivery.body).ok()?)));
        let Some((maker, mut message)) = parsed else { return Ok(delivery.body.clone()) };
        let waitpoint = message["data"]["waitpointId"].as_str().and_then(|id| id.parse::<WaitpointId>().ok());
        let Some(waitpoint) = waitpoint else { return Ok(delivery.body.clone()) };
        let generation = LinkGeneration::read(store, workspace, waitpoint)?;
        message["data"]["links"] = maker(waitpoint, generation, &message["data"]);
        Ok(message.to_string())
    }
}
