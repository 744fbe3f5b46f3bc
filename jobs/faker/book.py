"""faker.book: well-known books, authors and publishers, drawn apart from each other."""

from __future__ import annotations

from jobs.faker.source import one_of

author = one_of(
    "Agatha Christie", "Albert Camus", "Arthur Conan Doyle", "Charles Dickens", "Charlotte Brontë", "Chinua Achebe",
    "Emily Dickinson", "Ernest Hemingway", "Franz Kafka", "Gabriel García Márquez", "George Eliot", "George Orwell",
    "Harper Lee", "Herman Melville", "Homer", "James Joyce", "Jane Austen", "Jorge Luis Borges", "Leo Tolstoy",
    "Mark Twain", "Mary Shelley", "Miguel de Cervantes", "Oscar Wilde", "Samuel Beckett", "Sun Tzu", "Toni Morrison",
    "Ursula K. Le Guin", "Virginia Woolf", "William Shakespeare",
)  # fmt: skip
format_ = one_of("Audiobook", "Ebook", "Hardcover", "Paperback")
genre = one_of(
    "Adventure", "Biography", "Classics", "Comedy", "Crime", "Drama", "Fantasy", "Gothic", "Historical Fiction",
    "History", "Horror", "Memoir", "Mystery", "Mythology", "Philosophy", "Poetry", "Romance", "Satire",
    "Science Fiction", "Thriller", "Travel", "Western", "Young Adult",
)  # fmt: skip
publisher = one_of(
    "Allen & Unwin", "Bloomsbury", "Cambridge University Press", "Chatto & Windus", "Chronicle Books",
    "Faber and Faber", "Farrar, Straus and Giroux", "Hachette", "HarperCollins", "Harvard University Press",
    "Macmillan", "Oxford University Press", "Pan Books", "Penguin Books", "Random House", "Scholastic",
    "Simon & Schuster", "Victor Gollancz", "Vintage Books", "W. W. Norton",
)  # fmt: skip
series = one_of(
    "A Song of Ice and Fire", "Anne of Green Gables", "Discworld", "Dune", "Earthsea", "Foundation", "Hercule Poirot",
    "In Search of Lost Time", "Jeeves and Wooster", "Little Women", "Outlander", "Sherlock Holmes",
    "The Barsetshire Chronicles", "The Chronicles of Narnia", "The Expanse", "The Forsyte Saga",
    "The Lord of the Rings", "The Three Musketeers", "Wolf Hall", "Wayfarers",
)  # fmt: skip
title = one_of(
    "A Study in Scarlet", "Anna Karenina", "Beloved", "Brave New World", "Bleak House", "Crime and Punishment",
    "Don Quixote", "Dracula", "Emma", "Frankenstein", "Great Expectations", "Hamlet", "Jane Eyre", "Middlemarch",
    "Moby-Dick", "Mrs Dalloway", "Nineteen Eighty-Four", "One Hundred Years of Solitude", "Paradise Lost",
    "Pride and Prejudice", "The Art of War", "The Great Gatsby", "The Odyssey", "The Picture of Dorian Gray",
    "The Trial", "Things Fall Apart", "To Kill a Mockingbird", "Treasure Island", "Ulysses", "War and Peace",
    "Wuthering Heights",
)  # fmt: skip
