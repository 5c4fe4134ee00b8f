exports.createPages = async ({ graphql, actions }) => {
  const found = await graphql(`{ allMarkdownRemark { nodes { id frontmatter { slug title } } } }`);
  const nodes = found.data.allMarkdownRemark.nodes;
  nodes.forEach((node, at) => actions.createPage({ path: node.frontmatter.slug,
    component: require.resolve("./src/page.js"),
    context: { id: node.id, previous: nodes[at - 1]?.frontmatter ?? null, next: nodes[at + 1]?.frontmatter ?? null } }));
};
