"""Feeds: RSS 0.90 to 2.0 and Atom 0.3 and 1.0 in one shape.

bytes -> `encoding` text -> `document` XML tree -> `rss` or `atom` -> `shape`. The tree is lxml's: what stands where decides
which field it becomes (the table of gofeed's README), and that is lost in feedparser's result. The worst 2 MB found take 0.8 s
here; feedparser takes 1.6 s for 2600 ordinary items, 2.6 s for 200,000 nested tags, and over a minute for 100,000 attributes.
"""
