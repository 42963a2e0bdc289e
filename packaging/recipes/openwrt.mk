# Untested: made from a template of netburn, never built with OpenWrt. For feeds/packages/net/netburn-agent/Makefile.
# The package has only the agent, which takes a few megabytes of flash.
include $(TOPDIR)/rules.mk

PKG_NAME:=netburn-agent
PKG_VERSION:=@VERSION@
PKG_RELEASE:=1

PKG_SOURCE:=netburn-$(PKG_VERSION).tar.gz
PKG_SOURCE_URL:=@SOURCE_FOLDER@
PKG_HASH:=@SHA256@

PKG_MAINTAINER:=@MAINTAINER@
PKG_LICENSE:=MIT OR Apache-2.0
PKG_LICENSE_FILES:=LICENSE-MIT LICENSE-APACHE

PKG_BUILD_DIR:=$(BUILD_DIR)/netburn-$(PKG_VERSION)
PKG_BUILD_DEPENDS:=rust/host
PKG_BUILD_PARALLEL:=1

include $(INCLUDE_DIR)/package.mk
include $(TOPDIR)/feeds/packages/lang/rust/rust-package.mk

RUST_PKG_LOCKED:=1
RUST_PKG_FEATURES:=agent-only
CARGO_PKG_PROFILE:=agent

define Package/netburn-agent
  SECTION:=net
  CATEGORY:=Network
  TITLE:=@SUMMARY@
  URL:=@HOMEPAGE@
  DEPENDS:=$(RUST_ARCH_DEPENDS)
endef

define Package/netburn-agent/description
  The agent of netburn: this device is a station or a server of tests.
  Join a fleet with: netburn fleet join ADDRESS --install
endef

define Build/Compile
	$(call Build/Compile/Cargo,crates/netburn,--bin netburn-agent)
endef

define Package/netburn-agent/install
	$(INSTALL_DIR) $(1)/usr/bin
	$(INSTALL_BIN) $(PKG_INSTALL_DIR)/bin/netburn-agent $(1)/usr/bin/netburn
endef

$(eval $(call BuildPackage,netburn-agent))
