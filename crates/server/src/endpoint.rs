//! The table of routes. An [`Endpoint`] says all there is to say about a route: who may call it, what goes in, what
//! comes out. The router, the check of keys and `/openapi.json` are made from the same entry.

use axum::Router;
use axum::handler::Handler;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{self, MethodFilter, MethodRouter};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::app::Shared;
use crate::audit;
use crate::guard::{self, Access};
use crate::problem::Code;

/// Where the API is: the second is short for the first.
pub(crate) const PREFIXES: [&str; 2] = ["/api/v1", "/v1"];

pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    /// Other paths to the same.
    pub(crate) aliases: &'static [&'static str],
    /// Under [`PREFIXES`], not at the root.
    pub(crate) versioned: bool,
    pub(crate) access: Access,
    pub(crate) summary: &'static str,
    pub(crate) about: &'static str,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: Option<Content>,
    pub(crate) idempotent: bool,
    /// Says no with a page, too.
    pub(crate) pages: bool,
    /// A run answers, with any status.
    pub(crate) speaks: bool,
    pub(crate) answers: Vec<AnswerDoc>,
    pub(crate) codes: Vec<Code>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
    /// GET, HEAD, POST, PUT, PATCH and DELETE.
    Any,
}

const EVERY: MethodFilter = MethodFilter::GET
    .or(MethodFilter::POST)
    .or(MethodFilter::PUT)
    .or(MethodFilter::PATCH)
    .or(MethodFilter::DELETE);

/// What a body is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    pub(crate) media_types: &'static [&'static str],
    pub(crate) schema: Option<SchemaOf>,
    pub(crate) required: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct AnswerDoc {
    pub(crate) status: StatusCode,
    pub(crate) about: &'static str,
    pub(crate) content: Option<Content>,
}

const JSON: &[&str] = &["application/json"];

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Endpoint {
    pub(crate) fn new(verb: Verb, path: &'static str, access: Access, summary: &'static str) -> Endpoint {
        Endpoint {
            verb,
            path,
            aliases: &[],
            versioned: true,
            access,
            summary,
            about: "",
            query: None,
            body: None,
            idempotent: false,
            pages: false,
            speaks: false,
            answers: Vec::new(),
            codes: Vec::new(),
        }
    }

    pub(crate) fn at_root(mut self) -> Endpoint {
        self.versioned = false;
        self
    }

    pub(crate) fn alias(mut self, aliases: &'static [&'static str]) -> Endpoint {
        self.aliases = aliases;
        self
    }

    pub(crate) fn about(mut self, about: &'static str) -> Endpoint {
        self.about = about;
        self
    }

    pub(crate) fn query<T: JsonSchema>(mut self) -> Endpoint {
        self.query = Some(schema_of::<T>);
        self
    }

    pub(crate) fn body<T: JsonSchema>(mut self) -> Endpoint {
        self.body = Some(Content { media_types: JSON, schema: Some(schema_of::<T>), required: true });
        self
    }

    /// A body that may be left out.
    pub(crate) fn optional_body<T: JsonSchema>(mut self) -> Endpoint {
        self.body = Some(Content { media_types: JSON, schema: Some(schema_of::<T>), required: false });
        self
    }

    /// A body of no particular shape.
    pub(crate) fn any_body(mut self, media_types: &'static [&'static str]) -> Endpoint {
        self.body = Some(Content { media_types, schema: None, required: false });
        self
    }

    /// A body with a schema that is not one of ours.
    pub(crate) fn body_like(mut self, media_types: &'static [&'static str], schema: SchemaOf) -> Endpoint {
        self.body = Some(Content { media_types, schema: Some(schema), required: false });
        self
    }

    /// People see it: what goes wrong is a page.
    pub(crate) fn pages(mut self) -> Endpoint {
        self.pages = true;
        self
    }

    /// What a run says is the answer.
    pub(crate) fn speaks(mut self) -> Endpoint {
        self.speaks = true;
        self
    }

    /// Takes the header `Idempotency-Key`.
    pub(crate) fn idempotent(mut self) -> Endpoint {
        self.idempotent = true;
        self
    }

    pub(crate) fn ok<T: JsonSchema>(self, about: &'static str) -> Endpoint {
        self.answer::<T>(StatusCode::OK, about)
    }

    pub(crate) fn answer<T: JsonSchema>(mut self, status: StatusCode, about: &'static str) -> Endpoint {
        let content = Content { media_types: JSON, schema: Some(schema_of::<T>), required: true };
        self.answers.push(AnswerDoc { status, about, content: Some(content) });
        self
    }

    /// An answer that is not JSON, or JSON of no particular shape.
    pub(crate) fn plain(
        mut self,
        status: StatusCode,
        media_types: &'static [&'static str],
        about: &'static str,
    ) -> Endpoint {
        let content = Content { media_types, schema: None, required: true };
        self.answers.push(AnswerDoc { status, about, content: Some(content) });
        self
    }

    pub(crate) fn empty(mut self, status: StatusCode, about: &'static str) -> Endpoint {
        self.answers.push(AnswerDoc { status, about, content: None });
        self
    }

    pub(crate) fn codes(mut self, codes: &[Code]) -> Endpoint {
        self.codes.extend(codes);
        self
    }

    /// Every path it is reached by.
    pub(crate) fn paths(&self) -> Vec<String> {
        let of = |path: &str| match self.versioned {
            true => PREFIXES.iter().map(|prefix| format!("{prefix}{path}")).collect(),
            false => vec![path.to_owned()],
        };
        std::iter::once(self.path).chain(self.aliases.iter().copied()).flat_map(of).collect()
    }
}

/// Routes and what is said about them.
#[derive(Default)]
pub(crate) struct Routes {
    pub(crate) groups: Vec<Group>,
}

pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) routes: Vec<Route>,
}

pub(crate) struct Route {
    pub(crate) endpoint: Endpoint,
    pub(crate) handler: MethodRouter<Shared>,
}

impl Group {
    pub(crate) fn new(name: &'static str, about: &'static str) -> Group {
        Group { name, about, routes: Vec::new() }
    }

    pub(crate) fn add<H, T>(mut self, endpoint: Endpoint, handler: H) -> Group
    where
        H: Handler<T, Shared>,
        T: 'static,
    {
        let handler = match endpoint.verb {
            Verb::Get => routing::on(MethodFilter::GET, handler),
            Verb::Post => routing::on(MethodFilter::POST, handler),
            Verb::Patch => routing::on(MethodFilter::PATCH, handler),
            Verb::Put => routing::on(MethodFilter::PUT, handler),
            Verb::Delete => routing::on(MethodFilter::DELETE, handler),
            Verb::Any => routing::on(EVERY, handler),
        };
        self.routes.push(Route { endpoint, handler });
        self
    }
}

impl Routes {
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = (&Group, &Endpoint)> {
        self.groups.iter().flat_map(|group| group.routes.iter().map(move |route| (group, &route.endpoint)))
    }

    pub(crate) fn into_router(self, app: &Shared) -> Router<Shared> {
        let mut router = Router::new();
        for Route { endpoint, handler } in self.groups.into_iter().flat_map(|group| group.routes) {
            let action = audit::action(endpoint.verb, endpoint.path);
            let state = (Shared::clone(app), endpoint.access, action);
            let guard = middleware::from_fn_with_state(state, guard::admit_caller);
            let guarded = handler.route_layer(guard);
            for path in endpoint.paths() {
                router = router.route(&path, guarded.clone());
            }
        }
        router
    }
}
