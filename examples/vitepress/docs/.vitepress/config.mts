// Copy web/passage-chat.js into docs/public/.
import { defineConfig } from 'vitepress';

export default defineConfig({
  title: 'Kettle',
  head: [['script', { src: '/passage-chat.js', 'data-endpoint': 'https://passage.example', defer: '' }]],
});
