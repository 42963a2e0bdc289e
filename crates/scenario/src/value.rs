//! Conversion between the values of keys and those of the plan.

use crate::decode::{Context, FromNode, List, Section};
use crate::node::{Node, Place};
use netburn_medium::config::{Composition, HardwareQueue, RateControl};
use netburn_medium::queue::QueueKind;
use netburn_workload::Priority;
use serde_json::Value;

/// A value of a scenario key that other files have too.
pub trait KeyValue: Sized {
    /// Reads the value as a scenario file does.
    ///
    /// # Errors
    /// The value is invalid; the message has the value found and the values expected.
    fn from_text(text: &str) -> Result<Self, String>;
}

macro_rules! key_values {
    ($($kind:ty),+) => {
        $(impl KeyValue for $kind {
            fn from_text(text: &str) -> Result<Self, String> {
                read(text)
            }
        })+
    };
}
key_values!(Composition, HardwareQueue, Priority, QueueKind, RateControl);

fn read<T: FromNode>(text: &str) -> Result<T, String> {
    let mut cx = Context::default();
    let node = Node::new(crate::node::Value::Text(text.to_owned()), Place::Whole);
    T::read(&node, &mut cx).ok_or_else(|| {
        let problems = cx.problems.iter().map(|problem| match &problem.help {
            Some(help) => format!("{}; {help}", problem.message),
            None => problem.message.clone(),
        });
        problems.collect::<Vec<_>>().join("; ")
    })
}

/// A value of the plan that a key of type `K` sets.
pub(crate) trait PlanValue<K> {
    /// Converts the value of the key.
    fn from_key(key: &K) -> Self;
    /// Converts the value to JSON, as in a scenario document. `null`: the document lacks the key.
    fn to_json(&self) -> Value;
}

impl<K, T: PlanValue<K>> PlanValue<K> for Option<T> {
    fn from_key(key: &K) -> Self {
        Some(T::from_key(key))
    }

    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_json)
    }
}

impl<K, T: PlanValue<K>> PlanValue<List<K>> for Vec<T> {
    fn from_key(key: &List<K>) -> Self {
        key.0.iter().map(|item| T::from_key(&item.value)).collect()
    }

    fn to_json(&self) -> Value {
        match self.as_slice() {
            [] => Value::Null,
            items => items.iter().map(T::to_json).collect(),
        }
    }
}

/// Converts a section whose part of the plan has a default.
pub(crate) fn from_section<S: Section>(section: &S) -> S::Plan
where
    S::Plan: Default,
{
    let mut plan = S::Plan::default();
    section.apply(&mut plan);
    plan
}

/// Declares the sections that are one value of the plan.
macro_rules! section_values {
    ($($section:ty => $plan:ty),+ $(,)?) => {
        $(impl $crate::value::PlanValue<$section> for $plan {
            fn from_key(key: &$section) -> Self {
                $crate::value::from_section(key)
            }

            fn to_json(&self) -> serde_json::Value {
                <$section as $crate::decode::Section>::encode(self).into_json()
            }
        })+
    };
}
pub(crate) use section_values;
