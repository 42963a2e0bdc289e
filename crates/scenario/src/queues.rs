//! Queue disciplines as values of keys.

use crate::decode::{Context, FromNode};
use crate::node::Node;
use crate::scalars::word;
use crate::value::PlanValue;
use netburn_medium::config::QueueLimit;
use netburn_medium::queue::{Place, QueueKind};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Queue discipline of a WAN link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineQueue(QueueKind);

fn words(place: Place) -> Vec<(&'static str, QueueKind)> {
    let kinds = QueueKind::all_on(place);
    kinds.into_iter().map(|kind| (kind.name(), kind)).collect()
}

fn schema(place: Place) -> Schema {
    let names: Vec<&str> = QueueKind::all_on(place).into_iter().map(QueueKind::name).collect();
    json_schema!({ "type": "string", "enum": names })
}

impl FromNode for QueueKind {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        word(node, cx, &words(Place::Radio))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        schema(Place::Radio)
    }
}

impl FromNode for LineQueue {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        word(node, cx, &words(Place::Line)).map(LineQueue)
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        schema(Place::Line)
    }
}

impl PlanValue<QueueKind> for QueueKind {
    fn from_key(key: &QueueKind) -> Self {
        *key
    }

    fn to_json(&self) -> serde_json::Value {
        self.name().into()
    }
}

impl PlanValue<LineQueue> for QueueKind {
    fn from_key(key: &LineQueue) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        self.name().into()
    }
}

/// Default limits of the queue disciplines, in words.
pub(crate) fn queue_limits() -> String {
    let mut limits: Vec<(QueueLimit, Vec<String>)> = Vec::new();
    for queue in QueueKind::all_on(Place::Radio) {
        let (limit, name) = (queue.default_limit(), format!("`{}`", queue.name()));
        match limits.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, names)) => names.push(name),
            None => limits.push((limit, vec![name])),
        }
    }
    let texts = limits.iter().map(|(limit, names)| {
        let limit = PlanValue::<QueueLimit>::to_json(limit);
        format!("{}: {}", names.join(", "), limit.as_str().unwrap_or_default())
    });
    texts.collect::<Vec<_>>().join("; ")
}
