const remark = [{ resolve: "gatsby-remark-autolink-headers", options: { isIconAfterHeader: true } },
  { resolve: "gatsby-remark-prismjs", options: { showLineNumbers: false } }];
module.exports = { siteMetadata: { title: "Harbour mill" }, plugins: [
  { resolve: "gatsby-source-filesystem", options: { path: `${__dirname}/content`, name: "content" } },
  { resolve: "gatsby-transformer-remark", options: { plugins: remark } } ] };
