const highlight = require("@11ty/eleventy-plugin-syntaxhighlight");
const footnote = require("markdown-it-footnote");
const anchor = require("markdown-it-anchor");
module.exports = function (config) {
  config.addPlugin(highlight);
  config.addPassthroughCopy("stones.png");
  config.amendLibrary("md", (md) => md.set({ html: true }).use(footnote)
    .use(anchor, { permalink: anchor.permalink.headerLink() }));
  return { dir: { input: ".", includes: "_includes" }, markdownTemplateEngine: false };
};
