"""Decides whether the name of a program is before four numbers with dots, which are then its version and no address."""

from jobs.engines.text.linear import compiled
from jobs.engines.text.names import names

_PROGRAMS = names(
    """
    .net acrobat activemq angular ansible ant apache apache2 applewebkit apr arcgis asp.net bash blender boringssl brave
    busybox bzip2 caddy centos chrome chromium citrix clang cmake coldfusion confluence coreutils crios cuda cudnn curl
    dalvik debian delphi django docker dotnet drupal eclipse edg edga edge edgios electron elixir emacs envoy erlang esxi
    exim expat express fedora ffmpeg firefox flask fortios freebsd freetype fxios gcc gdal ghostscript git glibc gnupg
    gnutls go golang gradle gstreamer gunicorn gzip headlesschrome helm hibernate httpd iis imagemagick instagram ios
    ipados iphone jackson java jboss jdk jetty jinja jira joomla jquery jre kotlin kubectl libcurl libjpeg libpng
    libreoffice libressl libssl libtiff libxml libxml2 lighttpd linux llvm log4j macos magento matlab maven microsoft-iis
    mod_perl mod_python mod_ssl mod_wsgi mono msie net-snmp nginx nmap node node.js nodejs npm numpy okhttp openjdk
    openldap openresty openssh openssl opera opr oracle outlook pandas passenger pcre perl phantomjs php phpmyadmin
    phusion pip poi powershell proftpd putty pypy python pytorch qemu qt rails react redhat rhel ruby rust safari samba
    samsungbrowser scala selenium skype solaris splunk spring sqlite struts subversion tensorflow terraform thunderbird
    tomcat trident typescript ubuntu ucbrowser undertow unity unreal uvicorn varnish version vim virtualbox vivaldi vlc
    vmware vscode webkit weblogic webpack websphere werkzeug wget whatsapp wildfly winrar winscp wireshark wordpress xcode
    xen yabrowser yarn zlib zoom zsh
    """
)
_PARTS = names("database desktop driver edition enterprise framework library professional runtime sdk")
"""Words between the name and the version, which few addresses have before them."""
_PROTOCOLS = names("tcp udp icmp sctp ip ipv4 http https ftp ssh dns ntp rtp sip tls ssl ws wss grpc redis")
_AFTER_SPACE = compiled(r"(?s)(?:.*[^\w.+-])?([A-Za-z.][\w.+-]*) $")
_TWO_WORDS = compiled(r"(?s)(?:.*[^\w.+-])?([A-Za-z.][\w.+-]*) ([A-Za-z]+) $")
_JOINED = compiled(r"(?s)(?:.*[^\w.+-])?([A-Za-z][A-Za-z0-9+.]*)[_-]$")
_PRODUCT = compiled(r"(?s)(?:(.*)[^\w.+/-])?([A-Za-z][\w+-]*(?:\.js|\.net)?)/$")
"""The product token of RFC 9110, as in the headers User-Agent and Server."""
_HEADER = compiled(r"(?is).*(?:user-agent|server|powered-by|via)[\"']?: ?[\"']?[^\n]*")
_PRODUCT_BEFORE = compiled(r"(?s)(?:.*[^\w.+/-])?[A-Za-z][\w.+-]*/v?\d+(?:\.\d+)+[\w-]*(?: \([^()\n]*\)?)?\s*")
_PRODUCT_AFTER = compiled(r"(?: \([^()\n]*\))? [A-Za-z][\w.+-]*/v?\d")
_OF_ADDRESS = compiled(r":\d|/\d| -|[-\w]*:\d")
"""A port, a prefix length, or the dash of a server's log."""


def is_version(head: str, rest: str, *, is_private: bool) -> bool:
    """Whether a program is named before four numbers, and the text after them is not that after an address.

    Args:
        head: the text before the numbers.
        rest: the text after them.
        is_private: the first number is that of a private network.
    """
    if _OF_ADDRESS.match(rest):
        return False
    if product := _PRODUCT.fullmatch(head):
        name = (product[2] or "").lower()
        if name in _PROGRAMS or is_private:
            return name in _PROGRAMS
        return name not in _PROTOCOLS and _is_among_products(product[1] or "", rest)
    if is_private:
        return False
    word = _AFTER_SPACE.fullmatch(head) or _JOINED.fullmatch(head)
    if word and (word[1] or "").lower() in _PROGRAMS:
        return True
    words = _TWO_WORDS.fullmatch(head)
    return words is not None and (words[1] or "").lower() in _PROGRAMS and (words[2] or "").lower() in _PARTS


def _is_among_products(before: str, rest: str) -> bool:
    """Whether it stands in a list of products, or in a header that has such a list."""
    return any((_HEADER.fullmatch(before), _PRODUCT_BEFORE.fullmatch(before), _PRODUCT_AFTER.match(rest)))
