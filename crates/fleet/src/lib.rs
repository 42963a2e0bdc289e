//! Controller, agents, protocol and clocks: several stations started at one instant.
