// Copy web/passage-chat.js into public/.
import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';

export default defineConfig({
  integrations: [
    starlight({
      title: 'Kettle',
      pagefind: false, // one search, one dialog
      head: [{ tag: 'script', attrs: { src: '/passage-chat.js', 'data-endpoint': 'https://passage.example', defer: true } }],
    }),
  ],
});
