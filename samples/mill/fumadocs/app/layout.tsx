import './global.css';
import { RootProvider } from 'fumadocs-ui/provider/next';
import { DocsLayout } from 'fumadocs-ui/layouts/docs';
import { source } from '../lib/source';
export default function Layout({ children }: { children: React.ReactNode }) {
  return <html lang="en" suppressHydrationWarning><body><RootProvider search={{ enabled: false }}>
    <DocsLayout tree={source.getPageTree()} nav={{ title: 'Harbour mill' }} links={[{ text: 'Shop', url: '/sails' }]}>{children}</DocsLayout>
  </RootProvider></body></html>;
}
