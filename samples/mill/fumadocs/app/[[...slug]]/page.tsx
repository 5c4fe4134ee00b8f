import { source } from '../../lib/source';
import { DocsPage, DocsBody, DocsTitle, DocsDescription } from 'fumadocs-ui/page';
import defaultMdxComponents from 'fumadocs-ui/mdx';
import { Tab, Tabs } from 'fumadocs-ui/components/tabs';
export default async function Page(props: { params: Promise<{ slug?: string[] }> }) {
  const page = source.getPage((await props.params).slug)!;
  const MDX = page.data.body;
  return <DocsPage toc={page.data.toc}><DocsTitle>{page.data.title}</DocsTitle><DocsDescription>{page.data.description}</DocsDescription>
    <DocsBody><MDX components={{ ...defaultMdxComponents, Tab, Tabs }} /></DocsBody></DocsPage>;
}
export const generateStaticParams = () => source.generateParams();
export async function generateMetadata(props: { params: Promise<{ slug?: string[] }> }) {
  return { title: source.getPage((await props.params).slug)!.data.title + ' | Harbour mill' };
}
