# SPDX-License-Identifier: MIT
# packages.mk - what is given to others: the sources in one file, Debian packages, and the tests of both
#
# Variables: DIST, the commit to take; DEB_VERSION, instead of the one that CHANGELOG.md and the commit make.

DIST ?= HEAD
DEB_DEPS := debhelper dpkg-dev lintian xz-utils
TEST_DEPS += $(DEB_DEPS)

.PHONY: dist deb check-packages list-cuda-libs
# The same commit makes the same bytes.
dist:
	@mkdir -p $(B)
	$(call say,DIST,$(B)/quoit-$(VERSION).tar.xz)
	$(Q)git archive --format=tar --prefix=quoit-$(VERSION)/ -o $(B)/quoit-$(VERSION).tar $(DIST)
	$(Q)xz -f -T1 $(B)/quoit-$(VERSION).tar
deb:
	@sh tests/deps.sh $(DEPS) $(DEB_DEPS)
	@sh debian/build.sh $(B)/deb '$(if $(cuda_home),pkg.quoit.cuda)' $(DEB_VERSION)
check-packages: deps
	@sh tests/packages.sh $(B)
	@sh tests/reproducible.sh $(B)
list-cuda-libs:
	@echo $(cuda_home)/lib64
