"""Passage as a LangChain retriever: python langchain_retriever.py URL QUESTION"""

import sys

import httpx
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever


class PassageRetriever(BaseRetriever):
    url: str
    k: int = 5

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        question = {"text": query, "k": self.k, "titles": True}
        answer = httpx.post(f"{self.url}/query", json=question, timeout=30).raise_for_status()
        found = answer.json()["results"]
        return [Document(each["chunk_text"], id=each["chunk_id"], metadata=each) for each in found]


if __name__ == "__main__":
    for document in PassageRetriever(url=sys.argv[1], k=3).invoke(sys.argv[2]):
        print(document.metadata["url"])
