import { defineConfig } from '@rspress/core';
export default defineConfig({
  root: 'docs', title: 'Harbour mill', lang: 'en',
  markdown: { showLineNumbers: true },
  themeConfig: {
    nav: [{ text: 'Daily work', link: '/daily/' }], lastUpdated: true,
    editLink: { docRepoBaseUrl: 'https://git.example/mill/tree/main/docs' }, footer: { message: 'Built by the miller' },
  },
});
