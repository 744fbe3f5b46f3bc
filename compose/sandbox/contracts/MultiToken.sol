// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title An ERC-1155 as far as balances, transfers and approvals go.
/// @dev Made to be placed: no constructor; balances are put into its storage. A receiver that is a contract is not asked.
contract MultiToken {
    mapping(address account => mapping(uint256 id => uint256)) private _balanceOf;
    mapping(address owner => mapping(address operator => bool)) public isApprovedForAll;

    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );
    event TransferBatch(
        address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values
    );
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved);

    /// @notice ERC-6093, as OpenZeppelin's tokens have it.
    error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId);
    error ERC1155MissingApprovalForAll(address operator, address owner);

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xd9b67a26;
    }

    function balanceOf(address account, uint256 id) external view returns (uint256) {
        return _balanceOf[account][id];
    }

    function setApprovalForAll(address operator, bool approved) external {
        isApprovedForAll[msg.sender][operator] = approved;
        emit ApprovalForAll(msg.sender, operator, approved);
    }

    function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes calldata) external {
        _move(from, to, id, value);
        emit TransferSingle(msg.sender, from, to, id, value);
    }

    function safeBatchTransferFrom(
        address from,
        address to,
        uint256[] calldata ids,
        uint256[] calldata values,
        bytes calldata
    ) external {
        for (uint256 i = 0; i < ids.length; i++) {
            _move(from, to, ids[i], values[i]);
        }
        emit TransferBatch(msg.sender, from, to, ids, values);
    }

    function _move(address from, address to, uint256 id, uint256 value) private {
        if (msg.sender != from && !isApprovedForAll[from][msg.sender]) {
            revert ERC1155MissingApprovalForAll(msg.sender, from);
        }
        uint256 balance = _balanceOf[from][id];
        if (balance < value) revert ERC1155InsufficientBalance(from, balance, value, id);
        _balanceOf[from][id] = balance - value;
        _balanceOf[to][id] += value;
    }
}
