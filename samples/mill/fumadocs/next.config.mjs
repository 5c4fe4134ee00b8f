import { createMDX } from 'fumadocs-mdx/next';
export default createMDX()({ output: 'export', images: { unoptimized: true } });
