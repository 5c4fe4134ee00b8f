import * as React from "react";
import { graphql, Link } from "gatsby";
export default ({ data: { markdownRemark: post }, pageContext: { previous, next } }) => (
  <div className="global-wrapper"><header className="global-header"><Link to="/">Harbour mill</Link></header>
    <main><article className="blog-post" itemScope itemType="http://schema.org/Article">
      <header><h1 itemProp="headline">{post.frontmatter.title}</h1><p>May 04, 2026</p></header>
      <section dangerouslySetInnerHTML={{ __html: post.html }} itemProp="articleBody" /><hr />
      <footer><div className="bio"><p>Written by <strong>The miller</strong> who lives in the mill.</p></div></footer>
    </article>
    <nav className="blog-post-nav"><ul><li>{previous && <Link to={previous.slug} rel="prev">← {previous.title}</Link>}</li>
      <li>{next && <Link to={next.slug} rel="next">{next.title} →</Link>}</li></ul></nav></main>
    <footer>© 2026, Built with Gatsby</footer></div>);
export const Head = ({ data }) => <title>{data.markdownRemark.frontmatter.title} | Harbour mill</title>;
export const query = graphql`query($id: String!) { markdownRemark(id: { eq: $id }) { html frontmatter { title } } }`;
