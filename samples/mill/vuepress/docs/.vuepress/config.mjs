import { viteBundler } from '@vuepress/bundler-vite'
import { defaultTheme } from '@vuepress/theme-default'
import { defineUserConfig } from 'vuepress'
import footnote from 'markdown-it-footnote'
export default defineUserConfig({
  title: 'Harbour mill', bundler: viteBundler(),
  extendsMarkdown: (md) => { md.use(footnote) },
  theme: defaultTheme({
    repo: 'mill/handbook', docsBranch: 'main', lastUpdated: true, contributors: false,
    navbar: ['/daily/', '/sails.md'], sidebar: ['/', '/daily/', '/daily/grinding.md', '/daily/greasing.md', '/sails.md', '/glossary.md'],
  }),
})
