//! Wires of a plan: its routers, their lines, and the devices behind them.
//!
//! A router has a line (WAN link) and Ethernet ports. It is the `[router]`, or an access point. Access points and
//! stations behind one router share its line, over any number of cables and wireless backhauls between them. A device
//! that is behind no router is next to the server's link.

use super::{Ap, ApSetting, Backhaul, Plan, Port, Setting, Station, Wan};
use netburn_units::BitRate;

/// A device of a plan with Ethernet ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// The `[router]`.
    Router,
    /// The access point of this number in the plan.
    Ap(usize),
}

/// A WAN link, with the stations that share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'p> {
    /// Router whose line it is.
    pub router: Device,
    /// Settings of the link.
    pub wan: &'p Wan,
    /// Key of the link, as for `--set`: `router.wan`, or `ap.home.wan`.
    pub key: String,
    /// Numbers of the stations whose packets to and from the server pass the link, in the plan's order.
    pub stations: Vec<usize>,
}

impl Plan {
    /// Returns the plan's WAN links: that of the `[router]`, or those of the access points in the plan's order.
    #[must_use]
    pub fn lines(&self) -> Vec<Line<'_>> {
        let line = |router: Device| {
            let of_line = |station: &usize| self.router_of(&self.stations[*station]) == Some(router);
            Some(Line {
                router,
                wan: self.wan(router)?,
                key: format!("{}.wan", self.key_of(router)),
                stations: (0..self.stations.len()).filter(of_line).collect(),
            })
        };
        self.devices().filter_map(line).collect()
    }

    /// Returns the WAN link between a station and the server. `None`: there is none, or it depends on where the station or
    /// its access point joins.
    #[must_use]
    pub fn line_of(&self, station: &Station) -> Option<Line<'_>> {
        let router = self.router_of(station)?;
        self.lines().into_iter().find(|line| line.router == router)
    }

    /// Returns the WAN link of a device, if it has one itself.
    #[must_use]
    pub fn wan(&self, device: Device) -> Option<&Wan> {
        match device {
            Device::Router => self.router.as_ref()?.wan.as_ref(),
            Device::Ap(ap) => self.aps.get(ap)?.wan.as_ref(),
        }
    }

    /// Returns the devices that can be routers: the `[router]` and the access points.
    pub fn devices(&self) -> impl Iterator<Item = Device> + use<> {
        let router = self.router.as_ref().map(|_| Device::Router);
        router.into_iter().chain((0..self.aps.len()).map(Device::Ap))
    }

    /// Name of a device in messages: that of the access point, or `the router`.
    #[must_use]
    pub fn name_of(&self, device: Device) -> &str {
        match device {
            Device::Router => "the router",
            Device::Ap(ap) => &self.aps[ap].name,
        }
    }

    /// Returns the maximum forwarding rate of a device.
    #[must_use]
    pub fn forwarding_of(&self, device: Device) -> Option<BitRate> {
        match device {
            Device::Router => self.router.as_ref()?.forwarding,
            Device::Ap(ap) => self.aps.get(ap)?.forwarding,
        }
    }

    /// WAN link of a device to change it, if the device has one itself.
    pub fn wan_mut(&mut self, device: Device) -> Option<&mut Wan> {
        match device {
            Device::Router => self.router.as_mut()?.wan.as_mut(),
            Device::Ap(ap) => self.aps.get_mut(ap)?.wan.as_mut(),
        }
    }

    /// Returns the WAN links of all devices.
    pub fn wans(&self) -> impl Iterator<Item = &Wan> {
        let of_router = self.router.iter().filter_map(|router| router.wan.as_ref());
        of_router.chain(self.aps.iter().filter_map(|ap| ap.wan.as_ref()))
    }

    /// WAN links of all devices, to change them.
    pub fn wans_mut(&mut self) -> impl Iterator<Item = &mut Wan> {
        let of_router = self.router.iter_mut().filter_map(|router| router.wan.as_mut());
        of_router.chain(self.aps.iter_mut().filter_map(|ap| ap.wan.as_mut()))
    }

    /// Returns the new value if a setting is one of this device.
    #[must_use]
    pub fn setting_of<'s>(&self, device: Device, setting: &'s Setting) -> Option<&'s ApSetting> {
        match (setting, device) {
            (Setting::Router(new), Device::Router) => Some(new),
            (Setting::Ap(name, new), Device::Ap(ap)) if self.aps.get(ap)?.name == *name => Some(new),
            _ => None,
        }
    }

    /// As [`setting_of`](Self::setting_of), to change the value.
    pub fn setting_of_mut<'s>(&self, device: Device, setting: &'s mut Setting) -> Option<&'s mut ApSetting> {
        self.setting_of(device, setting)?;
        match setting {
            Setting::Router(new) | Setting::Ap(_, new) => Some(new),
            _ => None,
        }
    }

    /// Key of a device's section: `router`, or `ap.home`.
    #[must_use]
    pub fn key_of(&self, device: Device) -> String {
        match device {
            Device::Router => "router".to_owned(),
            Device::Ap(ap) => format!("ap.{}", self.aps[ap].name),
        }
    }

    /// Returns the device at the edge of the house through which a station's packets reach the server. `None`: the station
    /// is next to the server's link itself, or the device depends on where the station or its access point joins.
    #[must_use]
    pub fn router_of(&self, station: &Station) -> Option<Device> {
        if let Some(link) = &station.link {
            return self.router_behind(self.device_at(&link.to)?);
        }
        let radios = self.radios_of(station.air.joins.as_ref()?);
        let mut routers = radios
            .into_iter()
            .map(|radio| self.router_behind(self.ap_named(&radio.ap)?));
        let first = routers.next()??;
        routers.all(|other| other == Some(first)).then_some(first)
    }

    /// Returns the device at the edge of the house through which the packets of a device reach the server: the last one on
    /// this way. `None`: it depends on the parent that an access point selects, or the plan is invalid.
    #[must_use]
    pub fn router_behind(&self, device: Device) -> Option<Device> {
        let mut at = device;
        // A way visits each device once at most.
        for _ in 0..=self.aps.len() + 1 {
            let Device::Ap(ap) = at else { return Some(at) };
            at = match &self.aps.get(ap)?.backhaul {
                Backhaul::Best(_) => return self.router_of_all_roots(),
                Backhaul::Radio(parent) => self.ap_named(&parent.ap)?,
                Backhaul::Port(other) => self.ap_named(other)?,
                Backhaul::Wired => match self.mesh_root(ap) {
                    Some(root) if root != at => root,
                    _ if self.router.is_some() => Device::Router,
                    _ => return Some(at),
                },
            };
        }
        None
    }

    /// The router behind every access point with a wire, if it is the same for all.
    fn router_of_all_roots(&self) -> Option<Device> {
        let is_root = |ap: &usize| !self.aps[*ap].backhaul.is_wireless();
        let mut routers = (0..self.aps.len())
            .filter(is_root)
            .map(|ap| self.router_behind(Device::Ap(ap)));
        let first = routers.next()??;
        routers.all(|other| other == Some(first)).then_some(first)
    }

    /// Root of the mesh of an access point.
    pub(crate) fn mesh_root(&self, ap: usize) -> Option<Device> {
        let name = &self.aps[ap].name;
        let of_ap = |mesh: &&super::Mesh| mesh.radios.iter().any(|radio| radio.ap == *name);
        self.ap_named(&self.meshes.iter().find(of_ap)?.root)
    }

    /// Returns the device of a port; `None` for the server's link.
    #[must_use]
    pub fn device_at(&self, port: &Port) -> Option<Device> {
        match port {
            Port::Server => None,
            Port::Router => Some(Device::Router),
            Port::Ap(name) => self.ap_named(name),
        }
    }

    /// Returns the device to which an access point has a cable. `None`: its cable leads to the server's link, or it has a
    /// wireless backhaul.
    #[must_use]
    pub fn device_above(&self, ap: usize) -> Option<Device> {
        let config = self.aps.get(ap)?;
        match &config.backhaul {
            Backhaul::Radio(_) | Backhaul::Best(_) => None,
            Backhaul::Port(other) => self.ap_named(other),
            Backhaul::Wired if self.mesh_root(ap).is_some_and(|root| root != Device::Ap(ap)) => None,
            Backhaul::Wired => self.router.as_ref().map(|_| Device::Router),
        }
    }

    /// Access points that have a cable to the server's link, or that have it as soon as they are not behind a router.
    pub(crate) fn edges(&self) -> impl Iterator<Item = &Ap> {
        let is_edge = |(index, ap): &(usize, &Ap)| {
            let root = self.mesh_root(*index);
            matches!(ap.backhaul, Backhaul::Wired) && root.is_none_or(|root| root == Device::Ap(*index))
        };
        self.aps.iter().enumerate().filter(is_edge).map(|(_, ap)| ap)
    }

    fn ap_named(&self, name: &str) -> Option<Device> {
        self.aps.iter().position(|ap| ap.name == name).map(Device::Ap)
    }
}
